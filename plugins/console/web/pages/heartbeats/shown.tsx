import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useData } from '../../client/data.ts';
import { heartbeats as text } from '../../text/english/watch/heartbeats.ts';
import { say } from '../../text/words.ts';
import { attempt, Dialog } from '../../kit/dialog.tsx';
import { Awaited, Button, Copyable } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import type { Heartbeat, Ping } from './heartbeat.ts';

interface ShownProps {
  readonly heartbeat: Heartbeat;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The reports of one job, and what its owner can do. */
export function ShownHeartbeat({ heartbeat, onClose, onDone }: ShownProps) {
  const { name, paused } = heartbeat;
  const may = useMay()('heartbeat:edit');
  const path = `/heartbeats/${encodeURIComponent(name)}`;
  const [url, setUrl] = useState<string>();
  const { value, error } = useData<{ readonly items: readonly Ping[] }>(
    `${path}/${may ? 'logs' : 'pings'}`,
    { every: 10_000 },
  );
  const look = async (): Promise<void> =>
    setUrl((await api.get<{ readonly url: string }>(`${path}/address`)).url);
  return (
    <Dialog title={name} onClose={onClose}>
      {url !== undefined && (
        <>
          <p>{text.addressNote}</p>
          <Copyable value={url} />
        </>
      )}
      <h3>{text.reports}</h3>
      {value === undefined ? (
        <Awaited error={error} lines={3} />
      ) : (
        <>
          {value.items.length === 0 && <p class="soft">{text.noReports}</p>}
          <ul class="list tall">
            {value.items.map((ping) => (
              <Report key={`${ping.at} ${ping.kind}`} ping={ping} />
            ))}
          </ul>
        </>
      )}
      {may && (
        <div class="buttons">
          <Button onClick={() => void attempt(look)}>{text.showAddress}</Button>
          <Button
            onClick={() => void attempt(() => api.patch(path, { paused: !paused })).then(onDone)}
          >
            {paused ? text.resume : text.pause}
          </Button>
          <Button
            onClick={() =>
              void attempt(() => api.delete(path), text.removed).then((done) => {
                if (done) {
                  onDone();
                  onClose();
                }
              })
            }
          >
            {text.remove}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

const Report = ({ ping }: { readonly ping: Ping }) => {
  const { at, kind, exit_code: code, duration_ms: took, log } = ping;
  const facts = [
    text[kind],
    ...(code === null ? [] : [say(text.exitCode, { code })]),
    ...(took === null ? [] : [say(text.took, { seconds: Math.round(took / 100) / 10 })]),
  ];
  return (
    <li>
      <Time at={at} as="clock" /> {facts.join(', ')}
      {log !== null && <pre class="code">{log}</pre>}
    </li>
  );
};
