import { useState } from 'preact/hooks';

import { useRoom } from '../../client/additions.ts';
import { api } from '../../client/api.ts';
import { useData } from '../../client/data.ts';
import { address } from '../../browser/location.ts';
import { runbook as text } from '../../text/english/watch/incidents.ts';
import { say } from '../../text/words.ts';
import type { Incident } from '../shapes.ts';
import { Chart } from '../../kit/chart/chart.tsx';
import { attempt } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/form.tsx';
import { Markdown } from '../../kit/markdown.tsx';
import { Button, Fields, Section } from '../../kit/parts.tsx';
import { LogAnswer } from './log-answer.tsx';

interface Reading {
  readonly text: string;
  readonly language: 'promql' | 'logql' | 'traceql';
  readonly query: string;
  readonly needs_device: boolean;
}

interface Step {
  readonly text: string;
  readonly commands: readonly string[];
  readonly cost: { readonly risk: string; readonly takes: string; readonly undo: string } | null;
  readonly change: { readonly skill: string; readonly service: string } | null;
}

interface RunbookOf {
  readonly title: string;
  readonly path: string;
  readonly needs: string;
  readonly readings: readonly Reading[];
  readonly call: readonly string[];
  readonly steps: readonly Step[];
  readonly checks: readonly Reading[];
}

interface Executed {
  readonly status: string;
  readonly error?: string | null;
  readonly approval_id?: string;
}

const scheme = 'playbook://';

/** Playbook of an incident, for its device: readings that run here, and steps with what they cost. */
export function Runbook({ incident }: { readonly incident: Incident }) {
  const hasRoom = useRoom('knowledge');
  const { runbook_url: doc, device_id: device } = incident;
  const { value } = useData<RunbookOf>(
    hasRoom && doc.startsWith(scheme) ? '/knowledge/runbook' : undefined,
    { query: { doc, ...(device !== null && { device_id: device }) } },
  );
  if (value === undefined || value.readings.length + value.steps.length === 0) {
    return null;
  }
  const { readings, needs, call, steps, checks } = value;
  return (
    <Section
      title={say(text.title, { title: value.title })}
      aside={<a href={address(['knowledge'], { read: value.path })}>{text.whole}</a>}
    >
      {needs !== '' && <p class="soft">{needs}</p>}
      <ol class="runbook">
        {readings.map((reading) => (
          <ReadingItem key={reading.query} {...reading} />
        ))}
      </ol>
      {call.length > 0 && (
        <>
          <h3>{text.call}</h3>
          <Markdown text={call.map((line) => `- ${line}`).join('\n')} />
        </>
      )}
      <h3>{text.steps}</h3>
      <ul class="runbook">
        {steps.map((step) => (
          <StepItem key={step.text} {...step} device={device} />
        ))}
      </ul>
      <h3>{text.verify}</h3>
      <ul class="runbook">
        {checks.map((reading) => (
          <ReadingItem key={reading.query} {...reading} />
        ))}
      </ul>
    </Section>
  );
}

/** A reading and, once it was run, its answer beside it. */
function ReadingItem({ text: said, language, query, needs_device: lacksDevice }: Reading) {
  const [isShown, setShown] = useState(false);
  return (
    <li>
      <Markdown text={said} />
      <pre class="code">{query}</pre>
      {lacksDevice ? (
        <p class="soft">{text.noDevice}</p>
      ) : language === 'traceql' ? (
        <a href={address(['traces'], { q: query })}>{text.traces}</a>
      ) : (
        <Button onClick={() => setShown(!isShown)}>{isShown ? text.hide : text.run}</Button>
      )}
      {isShown && language === 'promql' && (
        <Chart title={text.lastHour} queries={[{ expr: query }]} window={{ last: 3_600 }} />
      )}
      {isShown && language === 'logql' && <LogAnswer query={query} />}
    </li>
  );
}

function StepItem({
  text: said,
  commands,
  cost,
  change,
  device,
}: Step & { readonly device: string | null }) {
  return (
    <li>
      <Markdown text={said} />
      {commands.map((command) => (
        <pre key={command} class="code">
          {command}
        </pre>
      ))}
      {cost !== null && (
        <Fields
          of={[
            [text.risk, cost.risk],
            [text.takes, cost.takes],
            [text.undo, cost.undo],
          ]}
        />
      )}
      {change !== null && device !== null && <ChangeRequest {...change} device={device} />}
    </li>
  );
}

/** Requests the change of a step: it passes the gate like any other, and runs once it may. */
function ChangeRequest({
  skill,
  service: named,
  device,
}: NonNullable<Step['change']> & { readonly device: string }) {
  const [service, setService] = useState(named);
  const [outcome, setOutcome] = useState<Executed>();
  const request = async (): Promise<void> => {
    await attempt(async () => {
      setOutcome(
        await api.post<Executed>(`/skills/${skill}/execute`, {
          params: { service },
          device_id: Number(device),
        }),
      );
    });
  };
  return (
    <div class="change">
      <TextField label={text.service} value={service} onInput={setService} mono />
      <Button disabled={service === ''} onClick={() => void request()}>
        {text.request}
      </Button>
      {outcome !== undefined && (
        <p role="status">
          {outcome.approval_id === undefined ? (
            (outcome.error ?? text.done)
          ) : (
            <a href={address(['approvals'])}>{text.waits}</a>
          )}
        </p>
      )}
    </div>
  );
}
