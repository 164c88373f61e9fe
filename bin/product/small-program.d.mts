import type { Plugin } from 'esbuild';

export const smallProgram: { readonly define: Record<string, string>; readonly plugins: Plugin[] };
