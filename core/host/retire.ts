import type { Generation, Registry, UndoFailure } from '../registry/index.ts';

/**
 * Ends a generation that no snapshot shows any more: ordinary requests finish, streams are told half way,
 * then every effect is undone. Resolves with what could not be undone.
 */
export async function retire(generation: Generation, registry: Registry, reason: string): Promise<readonly UndoFailure[]> {
  const { leases } = registry;
  const half = generation.manifest.limits.drain_ms / 2;
  if (!(await leases.idle(generation, half))) {
    generation.scope.announceEnd(reason);
    await leases.idle(generation, half);
  }
  return await generation.scope.close();
}
