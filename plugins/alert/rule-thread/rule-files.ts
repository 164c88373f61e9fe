import type { ThreadHandle } from 'svc/sdk';

import {
  type Candidates,
  candidatesOf,
  type ImportRequest,
} from '../rule-file/import-candidates.ts';
import { readRuleFile, type RuleFile } from '../rule-file/prometheus-file.ts';
import { readTestFile, type TestFile } from '../unit-test/test-file.ts';
import type { RuleFileText } from './open-rule-files.ts';

/** Shorter files are read where they arrive: starting a thread would take longer. */
const longestHere = 8 * 1024;
const timeoutMs = 60_000;

/** Reader of rule files and rule tests: YAML takes a second a megabyte. */
export class RuleFiles {
  readonly #thread: Pick<ThreadHandle, 'call'>;

  constructor(thread: Pick<ThreadHandle, 'call'>) {
    this.#thread = thread;
  }

  async candidates(request: ImportRequest): Promise<Candidates> {
    return request.content.length <= longestHere
      ? candidatesOf(readRuleFile(request.content), request)
      : (JSON.parse(await this.#call<string>('candidates', request)) as Candidates);
  }

  async rules(text: RuleFileText): Promise<RuleFile> {
    return text.content.length <= longestHere
      ? readRuleFile(text.content, text)
      : (JSON.parse(await this.#call<string>('rules', text)) as RuleFile);
  }

  async tests(content: string): Promise<TestFile> {
    return content.length <= longestHere
      ? readTestFile(content)
      : await this.#call<TestFile>('tests', content);
  }

  #call<R>(method: string, input: unknown): Promise<R> {
    return this.#thread.call<R>(method, input, { timeoutMs });
  }
}
