import { useEffect, useState } from 'preact/hooks';

import { api, type ApiError, type Page } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { utcMoment } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { handover as text } from '../../text/english/watch/incidents.ts';
import { say } from '../../text/words.ts';
import { Dialog, tell } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Awaited, Button, copyText } from '../../kit/parts.tsx';
import { severityName, statusName } from '../../kit/status.tsx';
import { titleOf } from '../incident-cell.tsx';
import type { Incident } from '../shapes.ts';

const longest = 4_000;
const mostNotes = 5;

interface Known {
  /** Result of the investigation; empty without one. */
  readonly cause: string;
  readonly steps: readonly string[];
  readonly notes: readonly string[];
}

/** Says to the next person what is known, as a text to be completed, copied, and kept in the timeline. */
export function Handover({
  incident,
  onClose,
}: {
  readonly incident: Incident;
  readonly onClose: () => void;
}) {
  const [written, setWritten] = useState<string>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    knownOf(incident.id)
      .then((known) => setWritten(summaryOf(incident, known)))
      .catch((refused: unknown) => setError(asApiError(refused)));
  }, []);
  return (
    <Dialog title={text.title} onClose={onClose} wide>
      {written === undefined ? (
        <Awaited error={error} lines={8} />
      ) : (
        <Form
          submit={text.keep}
          onCancel={onClose}
          disabled={written.trim() === ''}
          onSubmit={async () => {
            await api.post(`/alerts/incidents/${incident.id}/notes`, {
              text: written.slice(0, longest),
            });
            tell(text.kept);
            onClose();
          }}
        >
          <TextField
            label={text.summary}
            hint={text.hint}
            value={written}
            onInput={setWritten}
            rows={12}
            autoFocus
          />
          <div class="buttons">
            <Button
              icon="copy"
              onClick={() =>
                void copyText(written).then((isCopied) =>
                  tell(isCopied ? text.copied : text.notCopied, isCopied ? 'ok' : 'critical'),
                )
              }
            >
              {text.copy}
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  );
}

/** Asks for what others have found; an answer that is refused is left out, and says so. */
async function knownOf(id: number): Promise<Known> {
  const path = `/alerts/incidents/${id}`;
  const [report, events] = await Promise.all([
    api
      .get<{
        readonly summary?: string;
        readonly root_cause?: { readonly text: string } | null;
        readonly suggested_actions?: readonly { readonly label: string }[];
      }>(`${path}/investigation`)
      // Without a plugin that investigates there is no report, which is no fault.
      .catch((error: unknown) => ({
        summary: asApiError(error).status === 404 ? '' : asApiError(error).message,
        root_cause: null,
        suggested_actions: [],
      })),
    api
      .get<
        Page<{
          readonly type: string;
          readonly message: string;
          readonly actor: { readonly name: string };
          readonly created_at: string;
        }>
      >(`${path}/events`, { order: 'desc', limit: 100 })
      .then(({ items }) => items),
  ]);
  return {
    cause: report.root_cause?.text ?? report.summary ?? '',
    steps: (report.suggested_actions ?? []).map(({ label }) => label).slice(0, mostNotes),
    notes: events
      .filter(({ type }) => type === 'note')
      .slice(0, mostNotes)
      .map(
        ({ message, actor, created_at: at }) =>
          `${utcMoment(Date.parse(at))} ${actor.name}: ${message}`,
      ),
  };
}

function summaryOf(incident: Incident, { cause, steps, notes }: Known): string {
  const lines = (title: string, of: readonly string[]): readonly string[] =>
    of.length === 0 ? [] : ['', `${title}:`, ...of.map((one) => `- ${one}`)];
  return [
    titleOf(incident),
    `${severityName(incident.severity)}, ${statusName(incident.status)}`,
    say(text.fired, { at: utcMoment(Date.parse(incident.last_fired_at)) }),
    ...(incident.acknowledged_by === null
      ? []
      : [say(text.acknowledgedBy, { name: incident.acknowledged_by })]),
    ...(cause === '' ? [] : ['', say(text.cause, { cause })]),
    ...lines(text.steps, steps),
    ...lines(text.notes, notes),
    '',
    new URL(address(['incidents', incident.id]), location.href).href,
  ]
    .join('\n')
    .slice(0, longest);
}
