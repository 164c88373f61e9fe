import { useEffect, useState } from 'preact/hooks';

import { useData } from '../../client/data.ts';
import { useNames } from '../../client/names.ts';
import { explore as text } from '../../text/english/watch/explore.ts';
import { say } from '../../text/words.ts';
import { Segments } from '../../kit/form.tsx';
import { Button } from '../../kit/parts.tsx';
import { QueryField } from '../../kit/query-field.tsx';
import { type Answer, labelsIn } from './answer.ts';
import { Builder } from './builder.tsx';
import { letterOf } from './formula.ts';
import { parsed, written } from './simple-query.ts';

/** Outcome of one query: its answer, or that it has none. */
export interface Outcome {
  readonly expr: string;
  readonly answer: Answer | undefined;
  readonly isWrong: boolean;
}

export interface QueryRowProps {
  readonly index: number;
  readonly query: string;
  /** PromQL with the letters in it replaced; undefined if they stand for each other. */
  readonly expr: string | undefined;
  readonly isOnly: boolean;
  readonly isHidden: boolean;
  readonly onRun: (query: string) => void;
  readonly onHide: () => void;
  readonly onRemove: () => void;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** One query of the page, as text or as a form, with what is wrong with it. */
export function QueryRow({ index, query, expr, isOnly, isHidden, ...on }: QueryRowProps) {
  const [view, setView] = useState<'text' | 'builder'>('text');
  const now = useData<Answer>(
    expr === undefined || expr === '' ? undefined : '//prometheus/api/v1/query',
    { query: { query: expr }, every: 15_000 },
  );
  const isWrong = expr === undefined || (now.error !== undefined && !now.error.isSilence);
  useNames(labelsIn(now.value));
  useEffect(
    () => on.onOutcome({ expr: expr ?? '', answer: now.value, isWrong }),
    [expr, now.value, isWrong],
  );
  const simple = parsed(query);
  const letter = letterOf(index);
  return (
    <div class="query-row">
      <div class="query-row-tools">
        {!isOnly && (
          <Button
            pressed={!isHidden}
            label={say(isHidden ? text.show : text.hide, { letter })}
            onClick={on.onHide}
          >
            {letter}
          </Button>
        )}
        <Segments
          label={say(text.view, { letter })}
          value={view}
          options={[
            ['text', text.asText],
            ['builder', text.asBuilder],
          ]}
          onChange={setView}
        />
        {!isOnly && (
          <Button
            kind="quiet"
            icon="close"
            label={say(text.remove, { letter })}
            onClick={on.onRemove}
          />
        )}
      </div>
      {view === 'builder' &&
        (simple === undefined ? (
          <p class="soft">{text.beyondBuilder}</p>
        ) : (
          <Builder query={simple} onChange={(next) => on.onRun(written(next))} />
        ))}
      <QueryField
        language="promql"
        label={isOnly ? text.query : say(text.queryOf, { letter })}
        value={query}
        onRun={on.onRun}
        error={expr === undefined ? text.circle : isWrong ? now.error?.message : undefined}
      />
    </div>
  );
}
