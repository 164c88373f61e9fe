import type { Evidence, Findings, NotSeen, Snapshot } from 'svc/rca';

/** Units of answers, by the names of their figures; the finest first. */
export const amounts = ['samples', 'lines', 'spans', 'changes', 'relations'] as const;

/** Returns how much of the requested data a truncated answer contains: the newest part. */
export function shareOf({
  source,
  digest,
  truncated = false,
}: Pick<Evidence, 'source' | 'digest' | 'truncated'>): string | undefined {
  if (!truncated) {
    return undefined;
  }
  const [name] = source.split(' ', 1);
  const figure = (of: string): number | undefined =>
    typeof digest[of] === 'number' ? digest[of] : undefined;
  switch (name) {
    case 'logs':
      return `the newest ${figure('lines') ?? 0} of more lines`;
    case 'templates':
      return `the newest ${figure('lines') ?? 0} of more lines, in the ${figure('templates') ?? 0} most frequent kinds`;
    case 'metrics':
    case 'counts':
    case 'inventory':
      return `the first of ${figure('series') ?? 0} series`;
    case 'traces':
      return `${figure('traces') ?? 0} of more traces`;
    case 'changes':
      return `the newest ${figure('changes') ?? 0} of more changes`;
    case 'topology':
      return `the nearest ${figure('nodes') ?? 0} of more nodes`;
    default:
      return 'part of the answer';
  }
}

/** Returns answers that were truncated: the rest was not examined. */
export const cutOf = ({ evidence }: Pick<Snapshot, 'evidence'>): readonly NotSeen[] =>
  evidence.flatMap((one) => {
    const share = shareOf(one);
    return share === undefined
      ? []
      : [{ kind: one.kind, reason: 'too_much', text: `Only ${share} were read [${one.id}].` }];
  });

/** Changes that were looked at and that the report does not list: how many, and why. */
export function unlistedChanges(
  { changes }: Pick<Snapshot, 'changes'>,
  findings: Pick<Findings, 'changes' | 'onset_at'>,
): readonly NotSeen[] {
  const listed = new Set(findings.changes.map(({ id }) => id));
  const left = changes.filter(({ id }) => !listed.has(id));
  const later = left.filter(({ at }) => at > findings.onset_at).length;
  const before = left.length - later;
  const parts = [
    ...(before === 0 ? [] : [`${before} of the day before, elsewhere or too long ago to matter`]),
    ...(later === 0 ? [] : [`${later} after the onset`]),
  ];
  const sum = left.length === 1 ? 'change is' : 'changes are';
  return left.length === 0
    ? []
    : [
        {
          kind: 'change',
          reason: 'not_listed',
          text: `${left.length} more ${sum} not listed: ${parts.join(', ')}. All are at /api/v1/changes.`,
        },
      ];
}
