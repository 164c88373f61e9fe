export function cacheFolders(): readonly string[];
export function homeFolder(): string | undefined;
export function ownFolder(folder: string): string;
