import { type ApiClient, Failure } from 'svc/cli';

import type { Case } from './case.ts';
import type { Answered } from './rubric.ts';

interface Report {
  readonly verdict: string | null;
  readonly summary: string;
  readonly text: string;
}

interface Translated {
  readonly query: string;
  readonly valid: boolean;
}

/**
 * Answers a case as svc does without a model: with the investigation of its incident, or with the
 * query that the patterns make of the question and its result. What svc leaves to a model stays
 * unanswered.
 */
export async function askEngine(
  asked: Case,
  question: string,
  client: ApiClient,
  incident: number | undefined,
): Promise<Answered> {
  const begun = performance.now();
  const { text, calls } =
    incident === undefined
      ? await queried(asked, question, client)
      : { text: await reportOf(client, incident), calls: 1 };
  return {
    text,
    finish: 'stop',
    agent: 'engine',
    calls: Array.from({ length: calls }, () => ({ name: 'engine', status: 'ok' })),
    executed: [],
    turns: 0,
    inputTokens: 0,
    cachedTokens: 0,
    outputTokens: 0,
    seconds: (performance.now() - begun) / 1_000,
  };
}

/** Returns the query that the patterns make of a question; none if they refuse it. */
async function translatedBy(
  client: ApiClient,
  dialect: string,
  prompt: string,
): Promise<Translated | undefined> {
  try {
    const made = await client.post<Translated>('/api/v1/aiops/query-translate', {
      dialect,
      prompt,
    });
    return made.valid ? made : undefined;
  } catch (error) {
    if (error instanceof Failure && error.code === 'conflict') {
      return undefined;
    }
    throw error;
  }
}

async function reportOf(client: ApiClient, incident: number): Promise<string> {
  const { summary, text } = await client.get<Report>(
    `/api/v1/alerts/incidents/${incident}/investigation`,
  );
  return `${summary}\n${text}`;
}

const dialects: Readonly<Record<string, 'promql' | 'logql' | 'traceql'>> = {
  metrics: 'promql',
  logs: 'logql',
  traces: 'traceql',
};

async function queried(
  { subject }: Case,
  question: string,
  client: ApiClient,
): Promise<{ readonly text: string; readonly calls: number }> {
  const dialect = dialects[subject];
  if (dialect === undefined) {
    return { text: '', calls: 0 };
  }
  const translated = await translatedBy(client, dialect, question);
  if (translated === undefined) {
    return { text: '', calls: 0 };
  }
  const { query } = translated;
  const skill = { promql: 'metrics_query', logql: 'logs_query', traceql: 'traces_search' }[dialect];
  const result = await client
    .post<unknown>(`/api/v1/skills/${skill}/execute`, { params: { query } })
    .catch(() => undefined);
  return { text: `${query}\n${JSON.stringify(result ?? '')}`, calls: 1 };
}
