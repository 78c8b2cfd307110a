import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { withoutValues } from "../../../provider/adapters/k0s/given-values";

describe("k0s's words on settings that it does not accept", () => {
    const k0sConfig = {
        spec: {
            api: { sans: ["planted one"], address: "planted-2", extraArgs: { "some-token": 'planted "3"' }, port: 5 },
        },
    };
    const installFlags = ["--debug=planted4", "--labels=a=planted5,b=c", "--profile=x"];
    /** As k0s 1.36.3 says them. */
    const words: readonly [said: string, shown: string][] = [
        [
            'spec: api: address: Invalid value: "planted-2": invalid IP address\nspec: api: sans[0]: Invalid value: "planted one": invalid',
            'spec: api: address: Invalid value: "…": invalid IP address\nspec: api: sans[0]: Invalid value: "…": invalid',
        ],
        [
            'Error: invalid argument "planted4" for "-d, --debug" flag: strconv.ParseBool: parsing "planted4": invalid syntax',
            'Error: invalid argument "…" for "-d, --debug" flag: strconv.ParseBool: parsing "…": invalid syntax',
        ],
        ['some-token "planted \\"3\\"" and label "planted5"', 'some-token "…" and label "…"'],
        [
            'Unsupported value: "x": supported values: "etcd", "kine"',
            'Unsupported value: "…": supported values: "etcd", "kine"',
        ],
        ["Error: unknown flag: --unknown", "Error: unknown flag: --unknown"],
        ['json: unknown field "api"', 'json: unknown field "api"'],
    ];
    it("hold none of the program's values, and all names", () => {
        for (const [said, shown] of words) assert.equal(withoutValues(said, { installFlags, k0sConfig }), shown);
    });
});
