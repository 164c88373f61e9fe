/** Optional dependencies of locked packages that the lockfile does not name, as `[path, entry]`. */
export function missingPlatforms(
  lock: unknown,
): readonly (readonly [path: string, entry: object])[];
