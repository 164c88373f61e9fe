export declare function installHooks(root: string): void;
