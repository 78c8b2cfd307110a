/** Where an OCI artifact is: `registry.example.com:5000/mke/k0s:v1.36.3` or `…/mke/k0s@sha256:…`. */
export interface ArtifactReference {
    /** With the port, where one is given. */
    readonly registry: string;
    readonly repository: string;
    /** Tag or digest. */
    readonly reference: string;
}

/** The input was checked by its shape; anything else has no registry. */
export function parseReference(text: string): ArtifactReference {
    const slash = text.indexOf("/");
    const path = text.slice(slash + 1);
    const at = path.includes("@") ? path.indexOf("@") : path.lastIndexOf(":");
    return { registry: text.slice(0, slash), repository: path.slice(0, at), reference: path.slice(at + 1) };
}

/** The registry part of an address without a scheme, such as MkeConfig's `imageRegistry.url`. */
export function registryOf(address: string): string {
    return (
        address
            .replace(/^[a-z]+:\/\//, "")
            .split("/")[0]
            ?.toLowerCase() ?? ""
    );
}
