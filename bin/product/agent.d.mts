export function isAgent(args: readonly string[]): boolean;
export function slimDown(): void;
export function hurry(): void;
export function settle(): void;
