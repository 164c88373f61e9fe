export interface TreeParams {
  readonly path: string;
  readonly top: number;
  readonly max_entries: number;
}

/** Returns the schema of a skill that walks a folder, with the skill's own fields. */
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
        description: 'Stop after this many entries; the result is then marked as incomplete.',
      },
      ...own,
    },
  }) as const;
