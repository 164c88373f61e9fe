import { defineExtensionPoint } from 'svc/sdk';

/** Additional servers beyond those of the settings. */
export interface ServerSource {
  servers(): readonly { readonly name: string; readonly url: string; readonly enabled: boolean }[];
  onChange(listener: () => void): () => void;
}

export const ServerSources = defineExtensionPoint<ServerSource>('mcp.sources', undefined, {
  methods: ['servers', 'onChange'],
});
