import { posix } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import type { Deadline } from "../../deadline";
import { messageOf, RefusedError } from "../../errors";
import { extractFile } from "./archive";
import type { Registry } from "./client";
import type { ArtifactReference } from "./reference";

/** The layer of an artifact that is, or holds, the k0s program. */
export interface K0sLayer {
    readonly digest: string;
    readonly size: number;
    /** `tar`: an archive with a file named `k0s`, compressed or not. */
    readonly form: "file" | "tar";
}

/** The program as a stream. What is known of it is compared by whoever writes it. */
export interface K0sProgram {
    readonly content: Readable;
    readonly size?: number;
    readonly sha256?: string;
}

interface Descriptor {
    readonly mediaType?: string;
    readonly digest?: string;
    readonly size?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly platform?: { readonly os?: string; readonly architecture?: string };
}

interface ManifestContent {
    readonly manifests?: readonly Descriptor[];
    readonly layers?: readonly Descriptor[];
}

const TITLE = "org.opencontainers.image.title";
const PROGRAM = "k0s";
const SHA256 = /^sha256:[0-9a-f]{64}$/;

/** From the reference over the index of platforms, where there is one, to the layer. `arch` is Go's name. */
export async function findK0sLayer(
    registry: Registry,
    { repository, reference }: ArtifactReference,
    arch: string,
    deadline: Deadline,
): Promise<K0sLayer> {
    let manifest = (await registry.manifest(repository, reference, deadline)).content as ManifestContent;
    if (manifest.manifests !== undefined) {
        const digest = choosePlatform(manifest.manifests, arch);
        manifest = (await registry.manifest(repository, digest, deadline)).content as ManifestContent;
    }
    return chooseLayer(manifest.layers ?? []);
}

/** Digest of the manifest for linux on that architecture. */
function choosePlatform(manifests: readonly Descriptor[], arch: string): string {
    const found = manifests.find(({ platform }) => platform?.os === "linux" && platform.architecture === arch);
    if (found?.digest !== undefined && SHA256.test(found.digest)) return found.digest;
    const offered = manifests.map(({ platform }) => `${platform?.os ?? "?"}/${platform?.architecture ?? "?"}`);
    throw unusable(`it has nothing for linux/${arch}, only ${offered.join(", ") || "nothing at all"}`);
}

/** The layer titled `k0s`, else the only one there is. */
function chooseLayer(layers: readonly Descriptor[]): K0sLayer {
    const titled = layers.filter(({ annotations }) => posix.basename(annotations?.[TITLE] ?? "") === PROGRAM);
    const [layer, ...others] = titled.length > 0 ? titled : layers;
    if (layer === undefined || others.length > 0) {
        throw unusable(`none of its ${layers.length} layers is titled ${PROGRAM}, and it is not a single one`);
    }
    const { digest = "", size = 0, mediaType = "" } = layer;
    if (!SHA256.test(digest)) throw unusable(`its layer has the digest ${JSON.stringify(digest)}, which is no sha256`);
    if (mediaType.includes("zstd")) throw unusable(`its layer is a ${mediaType}; gzip and plain files are understood`);
    return { digest, size, form: /\btar\b/.test(mediaType) ? "tar" : "file" };
}

/** Opens the program. Of an archive nothing counts until all of it has been compared with its digest. */
export async function openK0s(
    registry: Registry,
    { repository }: ArtifactReference,
    layer: K0sLayer,
    deadline: Deadline,
): Promise<K0sProgram> {
    const blob = await registry.blob(repository, layer.digest, deadline);
    if (layer.form === "tar") return { content: programInArchive(blob, layer.digest) };
    return { content: blob, size: layer.size, sha256: layer.digest.slice("sha256:".length) };
}

/** It ends, without an error, only after the whole archive was the expected one. */
function programInArchive(blob: Readable, digest: string): Readable {
    const content = new PassThrough();
    unpack(blob, digest, content).then(
        () => content.end(),
        (error: unknown) => {
            blob.destroy();
            content.destroy(error as Error);
        },
    );
    return content;
}

async function unpack(blob: Readable, digest: string, content: PassThrough): Promise<void> {
    const archive = await extractFile(blob, PROGRAM, content).catch((error: unknown) => {
        throw unusable(`its layer cannot be read as a tar archive: ${messageOf(error)}`);
    });
    if (archive.digest !== digest) throw unusable(`its layer should be ${digest}, but ${archive.digest} arrived`);
    if (!archive.found) throw unusable(`its layer holds no file named ${PROGRAM}`);
}

const STAGE = "reading the k0s artifact";

function unusable(why: string): RefusedError {
    return new RefusedError({
        stage: STAGE,
        what: why,
        advice:
            "`k0s.ociArtifact` must be the program as a file (layer titled k0s, or the only one) or a tar archive with a file " +
            "named k0s, for linux on the host's architecture.",
    });
}
