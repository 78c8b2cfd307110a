import { parseAllDocuments, stringify, type Tags } from "yaml";

const TIMESTAMP = "tag:yaml.org,2002:timestamp";

/**
 * k0s reads YAML 1.1 (sigs.k8s.io/yaml): `on` is a boolean there and `0644` an octal number, so a text of that kind needs
 * quotes. Dates stay the text they are.
 */
const YAML_OF_K0S = {
    version: "1.1",
    customTags: (tags: Tags) => tags.filter((tag) => typeof tag === "string" || tag.tag !== TIMESTAMP),
} as const;

/**
 * What k0s finds in its configuration: the first document of the file, whatever follows (goyaml). Throws an error that quotes
 * the text.
 */
export function parseK0sYaml(text: string): unknown {
    const documents = parseAllDocuments(text, YAML_OF_K0S);
    const [first] = Array.isArray(documents) ? documents : [];
    const [error] = first?.errors ?? [];
    if (error !== undefined) throw error;
    return (first?.toJS() ?? null) as unknown;
}

/** A configuration that k0s reads as what it is here. */
export function k0sYaml(config: unknown): string {
    return stringify(config, YAML_OF_K0S);
}
