import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

import { problemsOf } from '../../../core/http/routes/problems.ts';
import { type ApiClient, asFailure } from 'svc/cli';
import { type ConfigFile, refusal } from './files.ts';
import { type Kind, type Request, requestOf, type Thing } from './kinds.ts';

/** Tells, without a change, whether svc would take a file. */
export class Trial {
  readonly #client: ApiClient;
  #document: Promise<Ajv2020 | undefined> | undefined;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Checks a file by the shape in svc's document, and by a trial if its kind has one. */
  async assertTaken(one: ConfigFile, there: Thing | undefined, wanted: Thing): Promise<void> {
    await this.#assertShape(one, requestOf(one.kind, there, wanted));
    await this.#assertTried(one.kind, wanted);
  }

  async #assertShape({ file, kind }: ConfigFile, { method, route, body }: Request): Promise<void> {
    this.#document ??= documentOf(this.#client);
    const pointer = ['paths', route, method, 'requestBody', 'content', 'application/json', 'schema']
      .map((part) => part.replaceAll('/', '~1'))
      .join('/');
    const fits = (await this.#document)?.getSchema(`api#/${encodeURI(pointer)}`) as
      | ValidateFunction
      | undefined;
    if (fits === undefined || fits(body)) {
      return;
    }
    // What refers to a thing that its own file will bring has no id yet.
    const known = Object.keys(kind.references ?? {}).map((field) => `/${field}`);
    const problems = problemsOf(fits.errors).filter(
      ({ path }) => !known.some((field) => path === field || path.startsWith(`${field}/`)),
    );
    if (problems.length > 0) {
      throw refusal(
        file,
        `is invalid: ${problems.map(({ path, message }) => `${path.slice(1).replaceAll('/', '.') || 'it'} ${message}`).join('; ')}`,
      );
    }
  }

  /** Tries a thing; a failure to ask is not the file's fault. */
  async #assertTried({ trial }: Kind, wanted: Thing): Promise<void> {
    if (trial === undefined) {
      return;
    }
    const body = Object.fromEntries(
      Object.entries({ ...wanted, ...trial.with }).filter(
        ([field]) => !(trial.without ?? []).includes(field),
      ),
    );
    try {
      await this.#client.post(trial.path, body);
    } catch (error) {
      const { code, details } = asFailure(error);
      const ofTrial = Object.keys(trial.with ?? {}).map((field) => `/${field}`);
      // A complaint about no field is one about the data of this hour.
      const isOfFile =
        Array.isArray(details) &&
        (details as { path?: string }[]).some(
          ({ path }) => path !== undefined && !ofTrial.includes(path),
        );
      if (code === 'invalid_argument' && isOfFile) {
        throw error;
      }
    }
  }
}

/** Undefined where this svc serves none: its plugin may be away. */
async function documentOf(client: ApiClient): Promise<Ajv2020 | undefined> {
  try {
    return new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).addSchema(
      await client.get<object>('/api/v1/openapi.json'),
      'api',
    );
  } catch (error) {
    if (asFailure(error).code === 'not_found') {
      return undefined;
    }
    throw error;
  }
}
