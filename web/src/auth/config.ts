/** How users sign in here. The server of the page provides it; nothing of it is secret. */
import { signal } from '@preact/signals';
import { CognitoSession } from './cognito';
import { LocalSession } from './local';
import type { Session } from './session';

export interface CognitoConfig {
  readonly auth: 'cognito';
  /** The managed login's address, without a slash at its end. */
  readonly domain: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

/** `version`: that of gridview. */
export type Config = ({ readonly auth: 'local' } | CognitoConfig) & { readonly version: string };

/** The version of gridview, after its configuration is loaded. */
export const version = signal('');

export async function loadConfig(): Promise<Config> {
  const answer = await fetch('/config.json');
  if (!answer.ok) throw new Error(`/config.json answered ${answer.status}.`);
  const config = (await answer.json()) as Config;
  version.value = config.version;
  return config;
}

export function sessionOf(config: Config): Session {
  return config.auth === 'local' ? new LocalSession() : new CognitoSession(config);
}
