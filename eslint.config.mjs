import tseslint from "typescript-eslint";

/** Layout belongs to Prettier; these rules look for mistakes, with types. */
export default tseslint.config(
    { ignores: ["dist/", "node_modules/", "**/*.js", "**/*.cjs", "**/*.mjs"] },
    {
        files: ["**/*.ts"],
        extends: [...tseslint.configs.strictTypeChecked],
        languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
        linterOptions: { reportUnusedDisableDirectives: "error" },
        rules: {
            eqeqeq: "error",
            "@typescript-eslint/consistent-type-imports": ["error", { disallowTypeAnnotations: false }],
            "@typescript-eslint/no-confusing-void-expression": [
                "error",
                { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
            ],
            "@typescript-eslint/no-unused-vars": [
                "error",
                { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
            ],
            // An async method without `await` turns what it throws into a rejection, as its interface promises.
            "@typescript-eslint/require-await": "off",
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
            "@typescript-eslint/switch-exhaustiveness-check": [
                "error",
                { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
            ],
        },
    },
    {
        // The only places that load by name when called: what is loaded decides how fast a preview is, and whose SDK it is.
        files: ["sdk/stub.ts", "sdk/program-sdk.ts", "provider/index.ts", "provider/resource/check.ts"],
        rules: { "@typescript-eslint/no-require-imports": "off" },
    },
    {
        // The stored text has no room for types.
        files: ["sdk/stub.ts"],
        rules: {
            "@typescript-eslint/no-unsafe-call": "off",
            "@typescript-eslint/no-unsafe-member-access": "off",
            "@typescript-eslint/no-unsafe-return": "off",
        },
    },
);
