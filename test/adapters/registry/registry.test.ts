import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it } from "mocha";
import { Registry, type RegistryAccess } from "../../../provider/adapters/registry/client";
import { findK0sLayer, openK0s } from "../../../provider/adapters/registry/k0s-artifact";
import { Deadline } from "../../../provider/deadline";
import { ApiError, ConnectionError, RefusedError } from "../../../provider/errors";
import { artifact, blob, index, type PushedManifest, tarball } from "../../support/registry-content";
import {
    fakeRegistry,
    LOGIN,
    realRegistry,
    type RegistryAuth,
    REPOSITORY,
    type TestRegistry,
} from "../../support/registry-server";
import { type RealPart, skipWithout } from "../../support/real-parts";

const soon = (): Deadline => Deadline.after(20_000);
/** More than one chunk, and nothing that compresses to one. */
const PROGRAM = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));
const OTHER = Buffer.from("for another architecture");
const TAR = "application/vnd.oci.image.layer.v1.tar+gzip";

const kinds: readonly [string, (auth: RegistryAuth) => Promise<TestRegistry>, readonly RealPart[]][] = [
    ["a registry", fakeRegistry, []],
    ["Docker's registry", realRegistry, ["registry"]],
];

for (const [what, start, parts] of kinds) {
    for (const auth of ["none", "basic", "token"] as const) {
        describe(`${what} with ${auth === "none" ? "no" : auth} login`, () => {
            let server: TestRegistry;
            let close = async (): Promise<void> => undefined;

            before(async function () {
                skipWithout(this, ...parts);
                server = await start(auth);
                close = () => server.close();
            });
            after(() => close());

            const open = (change: Partial<RegistryAccess> = {}): Registry =>
                new Registry(server.name, { login: LOGIN, ca: server.ca, ...change }, "staging k0s");
            const fetch = async (tag: string, registry = open()): Promise<Buffer> => {
                const reference = { registry: server.name, repository: REPOSITORY, reference: tag };
                const layer = await findK0sLayer(registry, reference, "amd64", soon());
                return buffer((await openK0s(registry, reference, layer, soon())).content);
            };
            const fails = async (
                tag: string,
                kind: abstract new (...args: never[]) => Error,
                words: RegExp,
                registry = open(),
            ): Promise<void> => {
                await assert.rejects(fetch(tag, registry), (error: Error) => {
                    assert.ok(error instanceof kind, error.stack);
                    assert.match(error.message, words);
                    assert.ok(!error.message.includes(LOGIN.password));
                    return true;
                });
            };
            const push = async (tag: string, manifest: PushedManifest): Promise<string> => {
                await server.push(tag, manifest);
                return tag;
            };

            it("gives the program that is the only layer", async () => {
                const tag = await push("file", artifact({ content: PROGRAM }));
                assert.ok((await fetch(tag)).equals(PROGRAM));
            });

            it("gives the layer titled k0s among others", async () => {
                const tag = await push(
                    "titled",
                    artifact({ content: OTHER, title: "README.md" }, { content: PROGRAM, title: "k0s" }),
                );
                assert.ok((await fetch(tag)).equals(PROGRAM));
            });

            it("gives the file k0s of an archive", async () => {
                const content = tarball({ "usr/share/doc/k0s.txt": OTHER, "usr/local/bin/k0s": PROGRAM, last: OTHER });
                const tag = await push("archive", artifact({ content, mediaType: TAR }));
                assert.ok((await fetch(tag)).equals(PROGRAM));
            });

            it("gives the one for the host's architecture, by tag and by digest", async () => {
                const both = index({
                    arm64: artifact({ content: OTHER }),
                    amd64: artifact({ content: PROGRAM, title: "k0s" }),
                });
                const tag = await push("both", both);
                assert.ok((await fetch(tag)).equals(PROGRAM));
                assert.ok((await fetch(both.digest)).equals(PROGRAM));
            });

            it("says what it has where there is nothing for that architecture", async () => {
                const tag = await push("arm", index({ arm64: artifact({ content: OTHER }) }));
                await fails(tag, RefusedError, /nothing for linux\/amd64, only linux\/arm64/);
            });

            it("says that a tag is not there", async () => {
                await fails("none", ApiError, /GET \/v2\/mke\/k0s\/manifests\/none: 404 manifest unknown/);
            });

            it("is not trusted without its authority, and no login is sent to it", async () => {
                await fails("file", ConnectionError, /caCertificate/, open({ ca: undefined }));
            });

            if (auth !== "none") {
                it("wants a login", async () => {
                    await fails("file", ApiError, /registry\.password/, open({ login: undefined }));
                });

                it("does not take a wrong one", async () => {
                    const login = { ...LOGIN, password: "wrong" };
                    await fails("file", ApiError, /401/, open({ login }));
                });
            }

            if (start === fakeRegistry) {
                it("hands out blobs elsewhere, and no login goes there", async () => {
                    await fetch(await push("file", artifact({ content: PROGRAM })));
                    const kept = server.requests.filter((line) => line.startsWith("storage"));
                    assert.ok(kept.length > 0);
                    assert.deepEqual([...new Set(kept)], ["storage anonymous"]);
                });
            }
        });
    }
}

describe("an artifact that is not what it should be", () => {
    let server: TestRegistry;
    before(async () => (server = await fakeRegistry("none")));
    after(() => server.close());

    const fetch = async (tag: string): Promise<Buffer> => {
        const registry = new Registry(server.name, { login: undefined, ca: server.ca }, "staging k0s");
        const reference = { registry: server.name, repository: REPOSITORY, reference: tag };
        const layer = await findK0sLayer(registry, reference, "amd64", soon());
        return buffer((await openK0s(registry, reference, layer, soon())).content);
    };
    const cases: readonly [string, PushedManifest, RegExp][] = [
        ["no layer", artifact(), /none of its 0 layers/],
        ["two layers without a title", artifact({ content: PROGRAM }, { content: OTHER }), /none of its 2 layers/],
        [
            "an archive without the file",
            artifact({ content: tarball({ "bin/k1s": PROGRAM }), mediaType: TAR }),
            /no file named k0s/,
        ],
        ["no archive", artifact({ content: PROGRAM, mediaType: TAR }), /cannot be read as a tar archive/],
        ["zstd", artifact({ content: PROGRAM, mediaType: TAR.replace("gzip", "zstd") }), /gzip and plain files/],
    ];
    for (const [name, manifest, words] of cases) {
        it(`is refused: ${name}`, async () => {
            await server.push("bad", manifest);
            await assert.rejects(fetch("bad"), (error: Error) => {
                assert.ok(error instanceof RefusedError, error.stack);
                assert.match(error.message, words);
                return true;
            });
        });
    }

    it("never ends as a whole program where the archive is another one than its digest says", async () => {
        const good = artifact({ content: tarball({ k0s: PROGRAM }), mediaType: TAR });
        const swapped = { ...good, blobs: good.blobs.map((one) => ({ ...one, content: tarball({ k0s: OTHER }) })) };
        await server.push("swapped", swapped);
        await assert.rejects(fetch("swapped"), /should be sha256:[0-9a-f]{64}, but sha256:[0-9a-f]{64} arrived/);
    });

    it("is refused where a manifest is not the one of its digest", async () => {
        const good = artifact({ content: PROGRAM });
        const wrong = blob(Buffer.from("another")).digest;
        await server.push(wrong, good);
        await assert.rejects(fetch(wrong), /the manifest's digest is/);
    });
});
