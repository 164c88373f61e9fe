import { type TSchema, Type } from 'typebox';

/** Fields that more than one message has. */

export const text = (most: number, least = 0) => Type.String({ minLength: least, maxLength: most });
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Timestamp = Type.String({ format: 'date-time', maxLength: 40 });
export const Sha256Hex = Type.String({
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  pattern: '^[0-9a-fA-F]{64}$',
});
/** `v1.2.3`, with or without the v. */
export const AgentVersion = Type.String({
  pattern: '^v?\\d{1,6}\\.\\d{1,6}\\.\\d{1,6}(-[0-9A-Za-z.-]{1,64})?$',
  examples: ['1.0.0'],
});
/** Architecture as Node names it. */
export const Arch = Type.Enum([
  'x64',
  'arm64',
  'arm',
  'ia32',
  'ppc64',
  's390x',
  'riscv64',
  'loong64',
]);
