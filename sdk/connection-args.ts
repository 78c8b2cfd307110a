/** Inputs that say how to reach the machine and its cluster. */
import type { Input } from "@pulumi/pulumi";

/** How to log in to a host or a bastion host. Names, units and defaults are those of `@pulumi/command`'s connection, but `host`. */
interface LoginArgs {
    /** Login name. Anybody but root needs `sudo` on a host, without a password or with `sudoPassword`. Default `root`. */
    user?: Input<string>;
    /** TCP port of sshd, 1 to 65535. Default 22. */
    port?: Input<number>;
    /** Content of a private key, OpenSSH, PEM (PKCS#8 too) or PuTTY's version 2, not a path. Stored as a secret. Error: what cannot be used, or an encrypted key without `privateKeyPassword`. */
    privateKey?: Input<string>;
    /** Passphrase of `privateKey`. Stored as a secret. */
    privateKeyPassword?: Input<string>;
    /** Login password, tried after the key. Stored as a secret. */
    password?: Input<string>;
    /**
     * Socket of an SSH agent on the machine that runs Pulumi, tried after a key. Default: that of `SSH_AUTH_SOCK`, where it is set,
     * tried after all else. A key in the environment (`PULUMI_MKE_PRIVATE_KEY`) is tried too: docs/inputs.md.
     */
    agentSocketPath?: Input<string>;
    /**
     * The key that this host must present: a public key (`ssh-ed25519 AAAA…`) or its fingerprint (`SHA256:…`); a target's is its
     * own also behind a proxy. Another key ends the operation at once, without a second try. Default: any key is accepted.
     */
    hostKey?: Input<string>;
    /** How many times dialling may fail before that is reported; -1 = until the time limit (`timeouts.connect`). Default 10. */
    dialErrorLimit?: Input<number>;
    /** Seconds for one attempt; 0 = no limit of its own. Default 15. */
    perDialTimeout?: Input<number>;
}

/** How to log in to a host. */
export interface ConnectionArgs extends LoginArgs {
    /** Only for a connection that is shared with `@pulumi/command`: the host that it is for, once more. Error: another one. */
    host?: Input<string>;
    /** A bastion host to go through. Default: none. */
    proxy?: Input<ProxyConnectionArgs>;
    /** Password for `sudo`; given to it on its standard input. Stored as a secret. Default: sudo asks for none. */
    sudoPassword?: Input<string>;
}

/** A bastion host: its address, and the login there. */
export interface ProxyConnectionArgs extends LoginArgs {
    /** Address or name of the bastion host. */
    host: Input<string>;
}

/** A controller of the cluster, to get help from. */
export interface ControllerAddressArgs {
    /** Its address or name, as seen from the machine that runs Pulumi. */
    host: Input<string>;
    /** The login there. Default: the resource's own `connection`, without its `hostKey`. */
    connection?: Input<ConnectionArgs>;
}

/** The cluster that a node belongs to. No change of it replaces a node. */
export interface ClusterArgs {
    /**
     * Controllers of the cluster; at least one. They are asked in this order, the target of an operation never helps with
     * itself, and those that are blank, unreachable or of another cluster are passed over. Error: an empty list.
     */
    controllers: Input<readonly Input<ControllerAddressArgs>[]>;
    /** Pin: UID of the cluster's `kube-system` namespace. A controller with another one does not help. Default: what the first contact found. */
    id?: Input<string>;
    /** Pin: `sha256:<hex>` of the public key of the cluster's CA. Default: what the first contact found. */
    caFingerprint?: Input<string>;
    /** A removal of a healthy controller that would leave fewer healthy ones is refused before anything is touched. Default 1. */
    minControllers?: Input<number>;
    /** An addition that would make more controllers is refused before anything is touched. Default 7. */
    maxControllers?: Input<number>;
}
