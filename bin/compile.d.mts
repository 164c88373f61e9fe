import type { Plugin } from 'esbuild';

export function compiledHost(root: string, program?: string): Promise<string | undefined>;
export const smallProgram: { readonly define: Record<string, string>; readonly plugins: Plugin[] };
