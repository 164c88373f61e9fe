import type { Persona } from 'svc/sdk';

/**
 * Returns whether a persona gets questions that mention nobody. One with `metadata.routing: by-name` is consulted by other
 * agents, and answers people who mention it.
 */
export const isRouted = ({ metadata }: Pick<Persona, 'metadata'>): boolean =>
  metadata['routing'] !== 'by-name';
