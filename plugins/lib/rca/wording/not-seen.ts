import type { Scene } from '../causes/scene.ts';
import type { NotSeen } from '../signals/findings.ts';

/** Returns what was requested and not fetched, what nobody collects, and what was out of scope. */
export function notSeenOf({ snapshot, facts }: Scene): NotSeen[] {
  const told = snapshot.missing.map(({ kind, node, reason, text }): NotSeen => ({
    kind,
    ...(node === undefined ? {} : { node }),
    reason,
    text,
  }));
  const unmeasured = [...facts.values()].filter(
    ({ node, measured }) =>
      !measured && !snapshot.missing.some((one) => one.node === node.id && one.kind === 'metric'),
  );
  const blank = unmeasured.slice(0, 10).map(({ node }): NotSeen => ({
    kind: 'metric',
    node: node.id,
    reason: 'absent',
    text: `There are no measurements for ${node.name}.`,
  }));
  const left = snapshot.nodes.length - facts.size;
  return [
    ...told,
    ...blank,
    ...(left > 0
      ? [
          {
            kind: 'topology' as const,
            reason: 'too_much',
            text: `${left} more distant nodes were not examined.`,
          },
        ]
      : []),
  ];
}
