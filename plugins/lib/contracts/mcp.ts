import { defineExtensionPoint } from 'svc/sdk';

/** Servers besides those of the settings, from whoever knows some. */
export interface ServerSource {
  servers(): readonly { readonly name: string; readonly url: string; readonly enabled: boolean }[];
  onChange(listener: () => void): () => void;
}

export const ServerSources = defineExtensionPoint<ServerSource>('mcp.sources');
