import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Header } from "tar";

/** Something a registry keeps, by its digest. */
export interface Blob {
    readonly digest: string;
    readonly content: Buffer;
}

export interface PushedManifest extends Blob {
    readonly mediaType: string;
    /** What must be there before it. */
    readonly blobs: readonly Blob[];
    readonly manifests: readonly PushedManifest[];
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const EMPTY = blob(Buffer.from("{}"));

export interface Layer {
    readonly content: Buffer;
    readonly mediaType?: string;
    readonly title?: string;
}

/** An artifact as `oras push` makes it. */
export function artifact(...layers: readonly Layer[]): PushedManifest {
    const kept = layers.map(({ content, mediaType = "application/octet-stream", title }) => ({
        blob: blob(content),
        mediaType,
        ...(title !== undefined && { annotations: { "org.opencontainers.image.title": title } }),
    }));
    const content = {
        schemaVersion: 2,
        mediaType: MANIFEST,
        artifactType: "application/vnd.example.k0s",
        config: { mediaType: "application/vnd.oci.empty.v1+json", ...descriptor(EMPTY) },
        layers: kept.map(({ blob: one, ...rest }) => ({ ...rest, ...descriptor(one) })),
    };
    return pushed(MANIFEST, content, [EMPTY, ...kept.map((one) => one.blob)], []);
}

/** One manifest for each architecture of linux. */
export function index(platforms: Readonly<Record<string, PushedManifest>>): PushedManifest {
    const manifests = Object.entries(platforms).map(([architecture, manifest]) => ({
        mediaType: MANIFEST,
        ...descriptor(manifest),
        platform: { os: "linux", architecture },
    }));
    return pushed(INDEX, { schemaVersion: 2, mediaType: INDEX, manifests }, [], Object.values(platforms));
}

/** A compressed archive of these files. */
export function tarball(files: Readonly<Record<string, Buffer>>): Buffer {
    const parts = Object.entries(files).flatMap(([path, content]) => {
        const header = Buffer.alloc(512);
        new Header({ path, size: content.length, mode: 0o755, type: "File", mtime: new Date(0) }).encode(header, 0);
        return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
    });
    return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

function pushed(
    mediaType: string,
    content: object,
    blobs: readonly Blob[],
    manifests: readonly PushedManifest[],
): PushedManifest {
    return { ...blob(Buffer.from(JSON.stringify(content))), mediaType, blobs, manifests };
}

export function blob(content: Buffer): Blob {
    return { digest: `sha256:${createHash("sha256").update(content).digest("hex")}`, content };
}

function descriptor({ digest, content }: Blob): { readonly digest: string; readonly size: number } {
    return { digest, size: content.length };
}
