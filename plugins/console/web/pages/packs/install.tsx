import { useEffect, useState } from 'preact/hooks';

import { api, type ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { install as text } from '../../text/english/administration/packs.ts';
import { Dialog, tell } from '../../kit/dialog.tsx';
import { Form } from '../../kit/form.tsx';
import { Fields, Refused, Skeleton } from '../../kit/parts.tsx';
import { Tag } from '../../kit/status.tsx';

export interface Source {
  readonly registry: string;
  readonly pack_id: string;
}

interface Preview {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly verdict: 'pass' | 'review' | 'block';
  readonly findings: readonly { readonly file: string; readonly message: string }[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
  readonly permissions: readonly string[];
  readonly hosts: readonly string[];
  readonly scripts: readonly string[];
  readonly ignored: readonly string[];
  readonly warnings: readonly string[];
  readonly confirm: string;
}

/** Shows what would be installed; installed is exactly what was shown, by its hash. */
export function Install({
  source,
  onClose,
  onDone,
}: {
  readonly source: Source;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [{ preview, error }, setState] = useState<{ preview?: Preview; error?: ApiError }>({});
  useEffect(() => {
    api.post<Preview>('/marketplace/preview', source).then(
      (shown) => setState({ preview: shown }),
      (refused: unknown) => setState({ error: asApiError(refused) }),
    );
  }, [source]);
  const install = async (): Promise<void> => {
    await api.post('/marketplace/install', { ...source, confirm: preview!.confirm });
    tell(text.done);
    onDone();
    onClose();
  };
  return (
    <Dialog title={text.title} onClose={onClose} wide>
      {error && <Refused error={error} />}
      {!error && !preview && <Skeleton lines={6} />}
      {preview && (
        <Form
          submit={text.install}
          onSubmit={install}
          onCancel={onClose}
          disabled={preview.verdict === 'block'}
        >
          <Fields
            of={[
              [text.pack, `${preview.name} ${preview.version}: ${preview.description}`],
              [
                text.scan,
                <Tag
                  tone={
                    preview.verdict === 'pass'
                      ? 'ok'
                      : preview.verdict === 'block'
                        ? 'critical'
                        : 'warning'
                  }
                >
                  {preview.verdict}
                </Tag>,
              ],
              [
                text.findings,
                preview.findings.map(({ file, message }) => `${file}: ${message}`).join('; '),
              ],
              [
                text.may,
                preview.permissions.length === 0 ? text.nothing : preview.permissions.join('; '),
              ],
              [text.skills, preview.skills.join(', ')],
              [text.agents, preview.agents.join(', ')],
              [text.hosts, preview.hosts.join(', ')],
              [text.scripts, preview.scripts.join(', ')],
              [text.ignored, preview.ignored.join(', ')],
              [text.warnings, preview.warnings.join('; ')],
            ]}
          />
        </Form>
      )}
    </Dialog>
  );
}
