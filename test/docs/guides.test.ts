import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "mocha";
import ts from "typescript";
import { root } from "../support/root";

const FOLDER = join(root, "docs", "guides");
const PAGES = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));

/** As much of `@pulumi/aws` as the guides use; the real one is several hundred megabytes. */
const AWS = `
declare module "@pulumi/aws" {
    import * as pulumi from "@pulumi/pulumi";
    export namespace ec2 {
        interface InstanceArgs {
            ami: pulumi.Input<string>;
            instanceType: pulumi.Input<string>;
            subnetId?: pulumi.Input<string>;
            keyName?: pulumi.Input<string>;
            privateIp?: pulumi.Input<string>;
            vpcSecurityGroupIds?: pulumi.Input<pulumi.Input<string>[]>;
        }
        class Instance extends pulumi.CustomResource {
            constructor(name: string, args: InstanceArgs, options?: pulumi.CustomResourceOptions);
            readonly privateIp: pulumi.Output<string>;
        }
    }
}
`;

/** As `pulumi new typescript` writes it, and strict. */
const OPTIONS: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2020,
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    noUnusedLocals: true,
    skipLibCheck: true,
    types: ["node"],
};

describe("docs/guides", () => {
    it("has programs that the compiler accepts", () => {
        const programs = new Map(PAGES.flatMap(programsOf));
        assert.ok(programs.size >= PAGES.length, "a page is without a program");
        assert.deepEqual(complaintsAbout(programs), []);
    });

    it("is checked by a compiler that knows the package", () => {
        const wrong = `import { MkeWorkerNode } from "pulumi-mke"; new MkeWorkerNode("w1", { hosts: "10.0.0.1" });`;
        const [complaint] = complaintsAbout(new Map([["wrong.ts", wrong]]));
        assert.match(complaint ?? "", /wrong\.ts.*hosts/s);
    });

    for (const page of PAGES) {
        it(`has no link that leads nowhere (${page})`, () => {
            const text = readFileSync(join(FOLDER, page), "utf8");
            for (const [, path = "", anchor] of text.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)) {
                const target = join(FOLDER, path);
                assert.ok(existsSync(target), path);
                if (anchor !== undefined) assert.match(readFileSync(target, "utf8"), new RegExp(`^#+ ${anchor}$`, "m"));
            }
        });
    }
});

/** Its blocks of TypeScript, each a program of its own, by a file name that tells where it is from. */
function programsOf(page: string): [string, string][] {
    const text = readFileSync(join(FOLDER, page), "utf8");
    const blocks = [...text.matchAll(/^```typescript\n(.*?)^```$/gms)];
    return blocks.map(([, program = ""], index) => [page.replace(/\.md$/, `-${index + 1}.ts`), program]);
}

function complaintsAbout(programs: ReadonlyMap<string, string>): string[] {
    // In the repository, so that `pulumi-mke` and the SDK are found as in a project of its own.
    const files = new Map([...programs, ["aws.d.ts", AWS] as const].map(([name, text]) => [join(root, name), text]));
    const host = ts.createCompilerHost(OPTIONS);
    const textOf = (path: string): string | undefined => files.get(path) ?? host.readFile(path);
    const compiler = ts.createProgram([...files.keys()], OPTIONS, {
        ...host,
        fileExists: (path) => files.has(path) || host.fileExists(path),
        readFile: textOf,
        getSourceFile: (path, language) => {
            const text = textOf(path);
            return text === undefined ? undefined : ts.createSourceFile(path, text, language);
        },
    });
    return ts.getPreEmitDiagnostics(compiler).map((found) => ts.formatDiagnostic(found, host));
}
