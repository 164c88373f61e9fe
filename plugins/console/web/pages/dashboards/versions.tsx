import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useData, useList } from '../../client/data.ts';
import { wear } from '../../browser/sheet.ts';
import { versions as text } from '../../text/english/watch/board-editor.ts';
import { count, say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Awaited, Button, Empty } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import rules from '../../styles/board-editor.css' with { type: 'text' };

wear(rules);

interface Version {
  readonly version: number;
  readonly author: string;
  readonly made_at: string;
  readonly deleted: boolean;
  readonly panels: number;
}

interface Compared {
  readonly version: number;
  readonly changes: readonly {
    readonly kind: 'added' | 'removed' | 'changed' | 'moved';
    readonly what: 'dashboard' | 'panel' | 'variable';
    readonly name: string;
    readonly fields: readonly {
      readonly field: string;
      readonly before: string;
      readonly after: string;
    }[];
  }[];
}

interface VersionsProps {
  readonly uid: string;
  readonly title: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
  readonly onRestored: () => void;
}

/** Changes of a dashboard, who made them, and the way back. */
export function Versions({ uid, title, mayWrite, onClose, onRestored }: VersionsProps) {
  const path = `/monitor/dashboards/${encodeURIComponent(uid)}/versions`;
  const { items, error } = useList<Version>(path);
  const [chosen, choose] = useState<number>();
  const shown = chosen ?? items?.[0]?.version;
  const restore = (version: number): void =>
    void attempt(
      () => api.post(`${path}/${version}/restore`),
      say(text.restored, { version }),
    ).then((done) => done && onRestored());
  return (
    <Dialog title={say(text.title, { title })} onClose={onClose} wide>
      {items === undefined ? (
        <Awaited error={error} lines={6} />
      ) : items.length === 0 ? (
        <Empty title={text.none} />
      ) : (
        <>
          <ul class="list tall">
            {items.map(({ version, author, made_at: at, deleted, panels }) => (
              <li key={version}>
                <Button kind="quiet" pressed={version === shown} onClick={() => choose(version)}>
                  {say(text.version, { version })}
                </Button>{' '}
                <Time at={at} />{' '}
                <span class="soft">
                  {author === '' ? text.unknown : say(text.by, { author })} ·{' '}
                  {deleted ? text.deletion : count(text.panels, panels)}
                </span>
              </li>
            ))}
          </ul>
          {shown !== undefined && <Changes path={`${path}/${shown}`} />}
          {mayWrite &&
            shown !== undefined &&
            shown !== items[0]!.version &&
            items.find(({ version }) => version === shown)?.deleted === false && (
              <p class="board-part">
                <Button kind="primary" onClick={() => restore(shown)}>
                  {say(text.restore, { version: shown })}
                </Button>
              </p>
            )}
        </>
      )}
    </Dialog>
  );
}

function Changes({ path }: { readonly path: string }) {
  const { value, error } = useData<Compared>(path);
  if (value === undefined) {
    return <Awaited error={error} lines={4} />;
  }
  return value.changes.length === 0 ? (
    <p class="soft">{text.unchanged}</p>
  ) : (
    <div class="changes">
      {value.changes.map(({ kind, what, name, fields }, at) => (
        <section key={at} class="board-part">
          <h3>
            {text[kind]}: {text[what]} {name}
          </h3>
          {kind !== 'added' && kind !== 'removed' && (
            <div class="table">
              <table aria-label={name}>
                <thead>
                  <tr>
                    <th scope="col">{text.field}</th>
                    <th scope="col">{text.before}</th>
                    <th scope="col">{text.after}</th>
                  </tr>
                </thead>
                <tbody>
                  {fields.map(({ field, before, after }) => (
                    <tr key={field}>
                      <td>{field.replaceAll('_', ' ')}</td>
                      <td>{before !== '' && <del>{before}</del>}</td>
                      <td>{after !== '' && <ins>{after}</ins>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </section>
      ))}
    </div>
  );
}
