export function cacheFolders(): readonly string[];
export function ownFolder(folder: string): string;
