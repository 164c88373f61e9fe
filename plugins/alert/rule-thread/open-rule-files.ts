import { candidatesOf, type ImportRequest } from '../rule-file/import-candidates.ts';
import { readRuleFile } from '../rule-file/prometheus-file.ts';
import { readTestFile, type TestFile } from '../unit-test/test-file.ts';

export interface RuleFileText {
  readonly content: string;
  readonly strict: boolean;
}

/** Methods of the thread that reads files; rules leave it as JSON, which takes their receiver least. */
export const openRuleFiles = async () => ({
  methods: {
    candidates: (request: ImportRequest): string =>
      JSON.stringify(candidatesOf(readRuleFile(request.content), request)),
    rules: ({ content, strict }: RuleFileText): string =>
      JSON.stringify(readRuleFile(content, { strict })),
    tests: (content: string): TestFile => readTestFile(content),
  },
  close: async () => undefined,
});
