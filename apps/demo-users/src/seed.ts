import { type User, type UserProfile, UserStatus } from './gen/demo/users/v1/users.ts'

const FIRST_NAMES = [
  'Ada',
  'Grace',
  'Alan',
  'Edsger',
  'Barbara',
  'Donald',
  'Margaret',
  'Dennis',
  'Radia',
  'Ken',
]
const LAST_NAMES = [
  'Ahlberg',
  'Brandt',
  'Castro',
  'Diallo',
  'Eriksen',
  'Fujita',
  'Garcia',
  'Haddad',
  'Ito',
  'Jansen',
]
const CITIES = ['Oslo', 'Lagos', 'Lima', 'Osaka', 'Pune', 'Quito', 'Riga']
const INTERESTS = ['chess', 'climbing', 'cooking', 'cycling', 'gardening', 'jazz', 'sailing', 'weaving']
const STATUSES = [UserStatus.ONLINE, UserStatus.OFFLINE, UserStatus.ONLINE, UserStatus.AWAY]
const FIRST_SIGN_UP = Date.UTC(2024, 0, 1)
const DAY_MS = 86_400_000

/** Users "1" to "100", the same ones at every start. */
export function seedUsers(): User[] {
  return Array.from({ length: 100 }, (_, index) => {
    const name = `${at(FIRST_NAMES, index)} ${at(LAST_NAMES, Math.floor(index / FIRST_NAMES.length))}`
    return {
      id: String(index + 1),
      name,
      email: `${name.toLowerCase().replace(' ', '.')}@example.com`,
      status: at(STATUSES, index),
      createdAt: new Date(FIRST_SIGN_UP + index * DAY_MS),
    }
  })
}

/** The profile of a user; derived, so that users created later have one too. */
export function profileOf(user: User): UserProfile {
  const number = Number(user.id)
  return {
    userId: user.id,
    bio: `${user.name} likes ${at(INTERESTS, number)} and ${at(INTERESTS, number + 3)}.`,
    location: at(CITIES, number),
    interests: [at(INTERESTS, number), at(INTERESTS, number + 3)],
  }
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T
}
