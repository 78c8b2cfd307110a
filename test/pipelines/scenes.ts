import { DELETE_OBJECT, happyPath, LEAVE } from "../../provider/decide/matrix-steps";
import type { Action, RemoveSteps } from "../../provider/decide/matrix-steps";
import { cluster, node, workerHost } from "../decide/build";
import { type Scene, type SceneOptions, scene } from "../support/fake-operation";

/** Steps of a healthy node's removal, as the matrix has them. */
export const HAPPY_WORKER = stepsOf(happyPath({ leave: "none", deleteObject: false }));
export const HAPPY_CONTROLLER = stepsOf(happyPath(LEAVE));
export const LEFT_ALREADY = stepsOf(happyPath(DELETE_OBJECT));

/** w1, which is a Node, or becomes one (`joins`) when its service starts. */
export function workerScene({ joins = false, ...options }: SceneOptions & { readonly joins?: boolean } = {}): Scene {
    const { nodes } = cluster();
    const world: Scene = scene({
        name: "w1",
        cluster: cluster({ nodes: joins ? nodes : [...nodes, node("w1")] }),
        ...(joins ? {} : { hostFacts: workerHost("w1") }),
        ...options,
        target: {
            service: async (action) => {
                if (joins && action === "start") world.kube.nodes = [...world.kube.nodes, node("w1")];
            },
            ...options.target,
        },
    });
    return world;
}

function stepsOf(action: Action): RemoveSteps {
    if (action.kind === "remove") return action.steps;
    throw new Error("no removal");
}
