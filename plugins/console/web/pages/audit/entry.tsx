import { address } from '../../browser/location.ts';
import { auditEntry as text } from '../../text/english/administration/audit.ts';
import { audit as outcomes } from '../../text/english/administration/audit.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Fields, Section } from '../../kit/parts.tsx';
import { Status, type Tone } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import type { AuditRow } from '../shapes.ts';
import { type Difference, differencesOf } from './differences.ts';

export const tones: Readonly<Record<AuditRow['status'], Tone>> = {
  success: 'ok',
  failure: 'warning',
  denied: 'critical',
};

/** Returns who acted, as people know them. */
export const actorOf = ({ actor: { name, email, type, id } }: AuditRow): string =>
  name ?? email ?? (type === id ? id : `${type} ${id}`);

export const resourceOf = ({ resource_type: type, resource_id: id }: AuditRow): string =>
  id === null ? type : `${type} ${id}`;

/** One entry with everything that is known of it, what changed above all. */
export function Entry({ row, onClose }: { readonly row: AuditRow; readonly onClose: () => void }) {
  const { actor, resource_type: type, resource_id: id, changes, status, http_status: code } = row;
  const differences = changes === null ? [] : differencesOf(changes.before, changes.after);
  return (
    <Dialog title={row.action} onClose={onClose} wide>
      <Fields
        of={[
          [text.number, row.id],
          [text.time, <Time at={row.occurred_at} />],
          [
            text.user,
            <>
              {actorOf(row)}{' '}
              {actor.email !== null && actor.email !== actorOf(row) && (
                <span class="soft">{actor.email} </span>
              )}
              <a href={address(['audit'], { actor: actor.email ?? `${actor.type}:${actor.id}` })}>
                {text.byUser}
              </a>
            </>,
          ],
          [text.address, <span class="mono">{row.ip}</span>],
          [text.client, row.user_agent],
          [
            text.resource,
            <>
              {resourceOf(row)}{' '}
              {id !== null && (
                <a href={address(['audit'], { resource_type: type, resource_id: id })}>
                  {text.byResource}
                </a>
              )}
            </>,
          ],
          [
            text.outcome,
            <Status tone={tones[status]}>
              {code === 0 ? outcomes[status] : `${outcomes[status]} · ${code}`}
            </Status>,
          ],
          [text.error, row.error],
          [text.request, <span class="mono">{row.request_id}</span>],
        ]}
      />
      <Section title={text.changes}>
        {differences.length === 0 ? (
          <p class="soft calm">{text.nothing}</p>
        ) : (
          <Differences of={differences} />
        )}
      </Section>
    </Dialog>
  );
}

const Differences = ({ of }: { readonly of: readonly Difference[] }) => (
  <div class="table differences">
    <table aria-label={text.changes}>
      <thead>
        <tr>
          <th scope="col">{text.field}</th>
          <th scope="col">{text.before}</th>
          <th scope="col">{text.after}</th>
        </tr>
      </thead>
      <tbody>
        {of.map(({ field, before, after }) => (
          <tr key={field}>
            <td class="mono">{field}</td>
            <td class="mono removed">{before ?? text.absent}</td>
            <td class="mono added">{after ?? text.absent}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
