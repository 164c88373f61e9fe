/** A name or an address, without a zone. */
export const hostSchema = {
  type: 'string',
  pattern: '^(\\[[0-9A-Fa-f:.]{2,45}\\]|[A-Za-z0-9_.:-]{1,253})$',
  description: 'Host name or address.',
} as const;
export const portSchema = { type: 'integer', minimum: 1, maximum: 65535 } as const;
