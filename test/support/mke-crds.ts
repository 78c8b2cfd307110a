/** The kinds of MKE and of autopilot's plans with any content, for a bare kube-apiserver or the simulation. */
export const MKE_CRDS = [
    definition("mke.mirantis.com", "v1alpha1", "MkeConfig", "Namespaced"),
    definition("mke.mirantis.com", "v1alpha1", "MkeRelease", "Cluster"),
    definition("autopilot.k0sproject.io", "v1beta2", "Plan", "Cluster"),
] as const;

export const MKE_CONFIG_PATH = "/apis/mke.mirantis.com/v1alpha1/namespaces/mke/mkeconfigs/mke";

function definition(group: string, version: string, kind: string, scope: "Namespaced" | "Cluster") {
    const plural = `${kind.toLowerCase()}s`;
    return {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `${plural}.${group}` },
        spec: {
            group,
            scope,
            names: { plural, kind },
            versions: [
                {
                    name: version,
                    served: true,
                    storage: true,
                    subresources: { status: {} },
                    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
                },
            ],
        },
    };
}
