import { describeKilled, rebuilding } from "./killing";
import { World } from "../support/interruption";

describeKilled("an operation on a lost machine that is killed at any of its changes and run again", [
    {
        title: "removing c3, whose machine is dead,",
        settled: ["c2", "c3"],
        node: "c3",
        prepare: async (world) => {
            const { id, outs } = await world.create("c3", { onUnreachable: "remove-from-cluster" });
            world.sim.find("c3").powerOff();
            await world.rest();
            // In vain from now on; for a login on a busy machine it would be short.
            return { id, outs: { ...outs, timeouts: { ...(outs["timeouts"] as object), connect: 5 } } };
        },
        run: (_world, { id, outs }) => World.kindOf("c3").delete(id, outs),
        except: /no member|not a pulumi-mke program/,
    },
    rebuilding("c3", ["c2", "c3"]),
    rebuilding("w1", ["w1"]),
]);
