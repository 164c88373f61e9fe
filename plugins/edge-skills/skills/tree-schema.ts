export interface TreeParams {
  readonly path: string;
  readonly top: number;
  readonly max_entries: number;
}

/** What every skill takes that walks through a folder, with what only one takes. */
export const treeSchema = (top: number, own: Readonly<Record<string, object>>) =>
  ({
    type: 'object',
    additionalProperties: false,
    required: ['path'],
    properties: {
      path: { type: 'string', minLength: 1, maxLength: 4096, description: 'Folder.' },
      top: { type: 'integer', minimum: 1, maximum: 200, default: top },
      max_entries: {
        type: 'integer',
        minimum: 1,
        maximum: 500000,
        default: 200000,
        description: 'After so many it stops and says so.',
      },
      ...own,
    },
  }) as const;
