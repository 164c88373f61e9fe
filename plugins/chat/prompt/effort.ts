import { type ModelEffort, modelEfforts } from 'svc/contracts/model';
import type { Persona } from 'svc/sdk';

/** Returns how much a persona wants its model to think: its header key `x-effort`, if it has one. */
export function effortOf({ unknown }: Pick<Persona, 'unknown'>): ModelEffort | undefined {
  const wanted = unknown['x-effort'];
  return modelEfforts.find((effort) => effort === wanted);
}
