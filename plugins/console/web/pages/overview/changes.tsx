import type { AuditRow } from '../../api/shapes.ts';
import type { Page } from '../../frame/api.ts';
import { useMay } from '../../frame/additions.ts';
import { useData } from '../../frame/data.ts';
import { address } from '../../frame/location.ts';
import { words } from '../../frame/words.ts';
import { Section, Skeleton } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';

const text = words('overview-changes', {
  title: 'What changed',
  all: 'Audit',
  none: 'Nothing was changed yet.',
});

/** Logins and the like are not what has broken anything. */
const noise = /^(?:auth|session|token):/;

/** What people and programs did last, for those who may read the trail. */
export function Changes() {
  const may = useMay();
  const isReader = may('*');
  const { value } = useData<Page<AuditRow>>(isReader ? '/admin/audit-logs' : undefined, {
    query: { status: 'success', limit: 40 },
    kinds: ['settings', 'rules', 'users', 'devices', 'edges', 'incidents'],
  });
  if (!isReader) {
    return null;
  }
  const rows = value?.items.filter(({ action, actor }) => !noise.test(action) && actor.type !== 'system').slice(0, 8);
  return (
    <Section title={text.title} aside={<a href={address(['audit'])}>{text.all}</a>}>
      {rows === undefined ? (
        <Skeleton lines={3} />
      ) : rows.length === 0 ? (
        <p class="soft calm">{text.none}</p>
      ) : (
        <ul class="list">
          {rows.map(({ id, occurred_at: at, actor, action, resource_id: resource }) => (
            <li key={id}>
              <span class="cut">
                <span class="mono">{action}</span> {resource !== null && <span class="soft">{resource}</span>}{' '}
                <span class="soft">{actor.name ?? actor.email ?? actor.type}</span>
              </span>
              <span class="soft">
                <Time at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
