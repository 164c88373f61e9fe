export function compiledHost(root: string, program?: string): Promise<string | undefined>;
