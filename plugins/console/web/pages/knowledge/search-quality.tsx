import { api } from '../../client/api.ts';
import { useSeesAll } from '../../client/additions.ts';
import { useData, useList } from '../../client/data.ts';
import { searchQuality as text } from '../../text/english/learn/knowledge.ts';
import { count, say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Section } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';

interface Gap {
  readonly id: number;
  readonly question: string;
  readonly found_nothing: number;
  readonly not_opened: number;
  readonly last_at: string;
}

interface Index {
  readonly vectors: {
    readonly model: string | null;
    readonly weight: number;
    readonly measure: {
      readonly questions: number;
      readonly words: number;
      readonly used: number;
    } | null;
  };
}

/** Searches without a result, and what the embedding model adds, for those who write. */
export function SearchQuality() {
  const { items, reload } = useList<Gap>('/knowledge/gaps', { every: 60_000, pageSize: 20 });
  return (
    <>
      <Measure />
      {(items ?? []).length > 0 && (
        <Section title={text.gaps}>
          <p class="soft">{text.gapsNote}</p>
          <ul class="list">
            {items!.map((gap) => (
              <li key={gap.id}>
                <span class="cut">{gap.question}</span>
                <span class="soft">
                  {gap.found_nothing > 0 && count(text.nothing, gap.found_nothing)}
                  {gap.found_nothing > 0 && gap.not_opened > 0 && ' · '}
                  {gap.not_opened > 0 && count(text.unopened, gap.not_opened)}
                  {' · '}
                  <Time at={gap.last_at} />
                </span>
                <Button
                  onClick={() =>
                    void attempt(() => api.delete(`/knowledge/gaps/${gap.id}`), text.deleted).then(
                      reload,
                    )
                  }
                >
                  {text.delete}
                </Button>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** Only where a model is set: words alone need no comparison. */
function Measure() {
  const { value } = useData<Index>(useSeesAll() ? '/knowledge/index' : undefined, {
    every: 60_000,
  });
  const { model, weight, measure } = value?.vectors ?? { model: null, weight: 0, measure: null };
  if (model === null) {
    return null;
  }
  const percent = (share: number): string => `${Math.round(share * 1000) / 10}`;
  return (
    <Section title={text.measure}>
      <p class="soft">
        {measure === null
          ? text.measuring
          : measure.questions === 0
            ? text.tooFew
            : say(weight > 0 ? text.helps : text.helpsNot, {
                questions: measure.questions,
                words: percent(measure.words),
                used: percent(measure.used),
                weight,
              })}
      </p>
    </Section>
  );
}
