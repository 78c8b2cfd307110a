import { adding, describeKilled, reinstalling, removing } from "./killing";
import { World } from "../support/interruption";

describeKilled("an operation that is killed at any of its changes and run again", [
    adding("w1", []),
    adding("c2", []),
    removing("w1", ["w1"]),
    removing("c3", ["c2", "c3"]),
    reinstalling("w1", ["w1"]),
    reinstalling("c3", ["c2", "c3"]),
    {
        title: "removing the last controller",
        settled: [],
        node: "c1",
        prepare: async (world) => world.create("c1", { onLastController: "reset" }),
        run: (_world, { id, outs }) => World.kindOf("c1").delete(id, outs),
        except: /quorum|ghost|no member|not a pulumi-mke program/,
    },
]);
