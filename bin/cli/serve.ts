import type { BootOptions, Environment, RunningCore } from '../../core/boot/index.ts';
import { programPoints } from '../manifest/points.ts';
import { connect } from '../serve/connect.ts';
import { type Command, type ExitCode } from 'svc/cli';
import { serve } from '../serve/serve.ts';
import { AutomaticBackups } from '../upkeep/backup/automatic-backups.ts';
import { finishRestore } from '../upkeep/backup/swap.ts';
import { withCredentials } from '../serve/service/from-systemd.ts';
import { currentProduct } from '../product/product.ts';
import { TrialStart } from '../upkeep/update/trial-start.ts';

export const command: Command = {
  operands: [],
  options: {},
  about:
    'svc is ready once /readyz returns 200. On SIGTERM or SIGINT, it finishes open requests first; a second signal stops it immediately. With --json, every log line is JSON.',
  example: 'SVC_HTTP_ADDR=127.0.0.1:9000 svc serve --data /var/lib/svc',

  async run({ environment, json }) {
    const product = await currentProduct();
    const trial = new TrialStart(product.version, product.embedded?.nativeBinding);
    const options: BootOptions = {
      product,
      points: programPoints,
      environment: withCredentials(json ? { ...environment, SVC_LOG_FORMAT: 'json' } : environment),
      safeguard: (dataDir, databaseUrl) => {
        trial.begin(dataDir);
        finishRestore(dataDir, product.embedded?.nativeBinding);
        const backups = new AutomaticBackups(dataDir, product, databaseUrl);
        return {
          beforeMigration: async () => {
            trial.assertStands(dataDir);
            await backups.beforeMigration();
          },
          wayBack: () => backups.wayBack(),
        };
      },
      beforePlugins: ({ dataDir }) => trial.assertStands(dataDir),
    };
    let house: RunningCore | undefined;
    const code = await serve(options, (running) => {
      trial.ready();
      const isFirst = house === undefined;
      house = running;
      // A node that hands the data over may get it back: the files are followed once all the same.
      if (isFirst) {
        followFiles(running, options.environment, () => house!);
      }
    });
    return { data: undefined, text: () => '', code: code as ExitCode };
  },
};

/** Files for git that svc is brought in line with, where config.folder names them. */
function followFiles(
  { dataDir, parts: { settings, logs } }: RunningCore,
  environment: Environment,
  house: () => Pick<RunningCore, 'url' | 'operatorToken'>,
): void {
  const folder = settings.get<string>('config.folder');
  if (folder === '') {
    return;
  }
  const log = logs.logger('config-files');
  const client = () => connect({ url: house().url, token: house().operatorToken });
  const say = (line: string, isTrouble: boolean): void =>
    isTrouble
      ? log.warn({ event: 'config.not_applied' }, line)
      : log.info({ event: 'config.applied' }, line);
  void import('../upkeep/config-files/watched-folder.ts').then(({ WatchedFolder }) =>
    new WatchedFolder({ folder, dataDir, environment, client, say }).start(),
  );
}
