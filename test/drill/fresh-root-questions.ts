/** Returns the bytes of an answer; a body makes it a POST. */
export type Asked = (path: string, body?: string, type?: string) => Promise<Buffer>;
/** Answers by question. */
export type Answers = Readonly<Record<string, string>>;

interface Subject {
  /** When all that is asked about was there. */
  readonly at: number;
  readonly incident: number;
  readonly session: number | string;
  readonly recording: number;
}

const hourMs = 3_600_000;

/** Twenty questions about what a svc has kept, whose answers do not change with the time at which they are asked. */
export async function questions(
  ask: Asked,
  { at, incident, session, recording }: Subject,
): Promise<Answers> {
  const [start, end] = [(at - hourMs) / 1_000, at / 1_000];
  const window = `start=${start}&end=${end}`;
  const nanos = `start=${at - hourMs}000000&end=${at}000000`;
  // oxlint-disable-next-line typescript/no-explicit-any -- each question knows what it is answered
  const of = async (path: string, part: (answer: any) => unknown): Promise<string> =>
    JSON.stringify(part(JSON.parse(String(await ask(path)))));
  const result = ({ data }: { data: { result: unknown } }): unknown => data.result;
  const data = ({ data: all }: { data: unknown }): unknown => all;
  const items = ({ items: all }: { items: unknown }): unknown => all;
  const query = encodeURIComponent;
  return {
    'metrics: a value': await of(`/prometheus/api/v1/query?query=fresh&time=${end}`, result),
    'metrics: a curve of the agent': await of(
      `/prometheus/api/v1/query_range?query=node_load1&${window}&step=15`,
      result,
    ),
    'metrics: how many series': await of(
      `/prometheus/api/v1/query?query=${query('count({__name__=~"node_.+"} offset 0s)')}&time=${end}`,
      result,
    ),
    'metrics: their names': await of(
      `/prometheus/api/v1/label/__name__/values?${window}&match[]=${query('{__name__=~"node_.+|fresh|heat"}')}`,
      data,
    ),
    'metrics: a sum over time': await of(
      `/prometheus/api/v1/query?query=${query('sum_over_time(heat[1h])')}&time=${end}`,
      result,
    ),
    'logs: lines': await of(
      `/loki/api/v1/query_range?query=${query('{app="fresh"}')}&${nanos}&limit=100`,
      result,
    ),
    'logs: one among them': await of(
      `/loki/api/v1/query_range?query=${query('{app="fresh"} |= "needle"')}&${nanos}`,
      result,
    ),
    'logs: how many': await of(
      `/loki/api/v1/query?query=${query('sum(count_over_time({app="fresh"}[1h]))')}&time=${at}000000`,
      result,
    ),
    'traces: one by its id': await of(
      '/tempo/api/traces/0af7651916cd43dd8448eb211c80319c',
      (trace) => trace,
    ),
    'traces: a search': await of(
      `/tempo/api/search?q=${query('{ resource.service.name = "fresh" }')}&start=${Math.floor(start)}&end=${Math.ceil(end)}`,
      ({ traces }) => traces,
    ),
    'incidents: the list': await of('/api/v1/alerts/incidents?rule=fresh_heat', items),
    'incidents: one of them': await of(`/api/v1/alerts/incidents/${incident}`, (one) => one),
    'incidents: what happened': await of(`/api/v1/alerts/incidents/${incident}/events`, items),
    'incidents: the report': await of(
      `/api/v1/alerts/incidents/${incident}/investigation`,
      (report) => report,
    ),
    'incidents: the rule': await of('/api/v1/alert-rules?q=fresh_heat', items),
    'chat: the sessions': await of('/api/v1/chat/sessions', items),
    'chat: what was said': await of(`/api/v1/chat/sessions/${session}/messages`, items),
    'recordings: the list': await of('/api/v1/webshell/recordings', items),
    'recordings: one, whole': String(await ask(`/api/v1/webshell/recordings/${recording}`)),
    'hosts: the devices': await of('/api/v1/devices', (page) =>
      page.items.map(({ id, hostname, name }: { id: number; hostname: string; name: string }) => [
        id,
        hostname,
        name,
      ]),
    ),
  };
}
