/** The signed-in user. The rest of the page knows only this interface. */
import type { ReadonlySignal } from '@preact/signals';
import type { Signer } from '../api/client';

export type Role = 'viewer' | 'editor' | 'admin';

export interface User {
  readonly tenant: string;
  readonly user: string;
  readonly role: Role;
}

/** Whether both are the same user of the same tenant, whatever the role. */
export function isSameUser(one: User, other: User): boolean {
  return one.tenant === other.tenant && one.user === other.user;
}

/** The user `before` if the user `now` has the same role, so that only real changes have another object. */
export function unchanged(before: User, now: User): User {
  return isSameUser(before, now) && before.role === now.role ? before : now;
}

/** A user with a name. */
export interface Person extends User {
  /** The name that the user chose; the id if it is unknown. */
  readonly name: string;
}

/** One or two letters that abbreviate a name. */
export function initialsOf(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return [parts[0], ...parts.slice(1).slice(-1)].map((part) => /^./u.exec(part ?? '')?.[0] ?? '').join('').toLocaleUpperCase();
}

export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut'; readonly expired: boolean }
  /** This browser has no key: open the address that `./dev up` prints. */
  | { readonly kind: 'locked' }
  | { readonly kind: 'signedIn'; readonly user: User }
  | { readonly kind: 'failed'; readonly reason: string };

export interface Session extends Signer {
  readonly state: ReadonlySignal<SessionState>;
  /** Whether the page itself asks for a user (the local stack). Otherwise `signIn` goes to the managed login. */
  readonly choosesUser: boolean;
  /** Find out who is signed in; called once, when the page loads. */
  start(): Promise<void>;
  /** Sign in. The user is given if the page asks for one or knows one; the managed login asks by itself. */
  signIn(user?: User): Promise<void>;
  signOut(): Promise<void>;
}

const RANKS: Readonly<Record<Role, number>> = { viewer: 0, editor: 1, admin: 2 };

/** Whether a role includes another one. */
export function permits(role: Role, needed: Role): boolean {
  return RANKS[role] >= RANKS[needed];
}

export function isRole(value: unknown): value is Role {
  return typeof value === 'string' && Object.hasOwn(RANKS, value);
}
