import { errors } from './errors.ts';
import { type AccessKey, sha256, signedHeaders } from './signature-v4.ts';
import { headOf, type Sink, shippedLine } from './sink.ts';
import { type HttpParts, withinMs } from './webhook.ts';

/** One object for each row would be many. */
const lingerMs = 60_000;
const digits = 12;

/**
 * A bucket of an object store with the API of S3. Objects are only added: one that is there already is compared, never replaced.
 * Where the bucket locks objects, nobody who has the key of svc can take one away either.
 */
export function objectStoreSink(
  { url: { origin, pathname }, secret, ca, now, fetch }: HttpParts,
  access: Omit<AccessKey, 'secret'>,
): Sink {
  const folder = pathname.replace(/\/*$/, '/');
  const ask = async (
    method: 'PUT' | 'GET',
    name: string,
    more: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> => {
    const url = new URL(`${folder}${name}`, origin);
    const headers = signedHeaders(
      { method, url, headers: more, body },
      { ...access, secret },
      now(),
    );
    const reply = await fetch(url.href, {
      method,
      headers,
      ...(method === 'PUT' && { body }),
      timeoutMs: withinMs,
      maxBytes: 16 * 1024 * 1024,
      signal,
      ...(ca !== '' && { tls: { ca } }),
    });
    return { status: reply.status, text: Buffer.from(reply.body).toString('utf8') };
  };
  return {
    place: `s3+${origin}${folder}`,
    lingerMs,
    async send(batch, signal) {
      const body = batch.map((row) => `${shippedLine(row)}\n`).join('');
      const last = batch.at(-1)!;
      const [from, to] = [batch[0].seq, last.seq].map((seq) => String(seq).padStart(digits, '0'));
      const name = `${from}-${to}-${last.hash.slice(0, 16)}.jsonl`;
      const { status, text } = await ask(
        'PUT',
        name,
        {
          'content-type': 'application/x-ndjson',
          'if-none-match': '*',
          'x-amz-checksum-sha256': Buffer.from(sha256(body), 'hex').toString('base64'),
          'x-amz-meta-head': headOf(batch),
        },
        body,
        signal,
      );
      if (status === 412) {
        // Sent before, and svc was killed before it could note that.
        const there = await ask('GET', name, {}, '', signal);
        if (there.status !== 200 || there.text !== body) {
          throw errors.sink_object_differs({ name, status: there.status });
        }
      } else if (status !== 200) {
        const reason = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1];
        throw errors.sink_refused({
          status: reason === undefined ? status : `${status} ${reason}`,
        });
      }
    },
  };
}
