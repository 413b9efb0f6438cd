/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rfc3339 - see rfc3339.h. The calendar is counted in 400-year eras that
 * begin on the first of March, so that a leap day is the last of its year.
 */
#include "src/base/rfc3339.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND_US 1000000u
#define DAY_S 86400u
#define ERA_DAYS 146097u   /* 400 years */
#define EPOCH_DAYS 719468u /* from 0000-03-01 to 1970-01-01 */
#define END_US UINT64_C(253402300799999999)

struct civil {
    unsigned year, month, day;
};

static struct civil civil_of(uint64_t days)
{
    uint64_t n = days + EPOCH_DAYS;
    unsigned era = (unsigned)(n / ERA_DAYS);
    unsigned doe = (unsigned)(n % ERA_DAYS);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153; /* March is 0 */
    unsigned month = mp < 10 ? mp + 3 : mp - 9;

    return (struct civil){.year = era * 400 + yoe + (month <= 2),
                          .month = month,
                          .day = doy - (153 * mp + 2) / 5 + 1};
}

/* Of a valid date from 1970 on. */
static uint64_t days_of(struct civil c)
{
    unsigned y = c.year - (c.month <= 2);
    unsigned yoe = y % 400;
    unsigned mp = c.month > 2 ? c.month - 3 : c.month + 9;
    unsigned doy = (153 * mp + 2) / 5 + c.day - 1;

    return (uint64_t)(y / 400) * ERA_DAYS + yoe * 365 + yoe / 4 - yoe / 100 +
           doy - EPOCH_DAYS;
}

static void put(char *out, unsigned value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        out[i] = (char)('0' + value % 10);
}

void rfc3339_format(uint64_t us, char out[RFC3339_SIZE])
{
    uint64_t t = us > END_US ? END_US : us;
    unsigned s = (unsigned)(t / SECOND_US % DAY_S);
    struct civil c = civil_of(t / SECOND_US / DAY_S);

    memcpy(out, "0000-00-00T00:00:00.000000Z", RFC3339_SIZE);
    put(out, c.year, 4);
    put(out + 5, c.month, 2);
    put(out + 8, c.day, 2);
    put(out + 11, s / 3600, 2);
    put(out + 14, s / 60 % 60, 2);
    put(out + 17, s % 60, 2);
    put(out + 20, (unsigned)(t % SECOND_US), 6);
}

/* `digits` digits, then `end` unless it is 0. */
static bool take(const char **at, int digits, char end, unsigned *value)
{
    *value = 0;
    for (; digits > 0; digits--, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *value = *value * 10 + (unsigned)(**at - '0');
    }
    if (end == '\0')
        return true;
    return *(*at)++ == end;
}

static bool take_date(const char **at, struct civil *c)
{
    return take(at, 4, '-', &c->year) && take(at, 2, '-', &c->month) &&
           take(at, 2, '\0', &c->day) && c->year >= 1970 && c->month >= 1 &&
           c->month <= 12 && c->day >= 1 && c->day <= 31;
}

/* ".5": microseconds; what is finer is dropped. */
static bool take_fraction(const char **at, unsigned *us)
{
    unsigned unit = 100000;

    *us = 0;
    if (**at != '.')
        return true;
    if ((*at)[1] < '0' || (*at)[1] > '9')
        return false;
    for ((*at)++; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
        *us += (unsigned)(**at - '0') * unit;
    return true;
}

/* "Z" or "+02:00": seconds to subtract. */
static bool take_zone(const char **at, int64_t *offset)
{
    char sign = *(*at)++;
    unsigned h, m;

    *offset = 0;
    if (sign == 'Z' || sign == 'z')
        return true;
    if ((sign != '+' && sign != '-') || !take(at, 2, ':', &h) ||
        !take(at, 2, '\0', &m) || h > 23 || m > 59)
        return false;
    *offset = (int64_t)(h * 3600 + m * 60) * (sign == '-' ? -1 : 1);
    return true;
}

int rfc3339_parse(const char *text, uint64_t *us)
{
    struct civil c, back;
    unsigned h = 0, m = 0, s = 0, fraction = 0;
    int64_t offset = 0, total;

    if (!take_date(&text, &c))
        return -1;
    back = civil_of(days_of(c)); /* 31 February comes back as March */
    if (back.day != c.day)
        return -1;
    if (*text != '\0') {
        char sep = *text++;

        if ((sep != 'T' && sep != 't' && sep != ' ') ||
            !take(&text, 2, ':', &h) || !take(&text, 2, ':', &m) ||
            !take(&text, 2, '\0', &s) || !take_fraction(&text, &fraction) ||
            !take_zone(&text, &offset) || h > 23 || m > 59 || s > 60)
            return -1;
    }
    total = (int64_t)(days_of(c) * DAY_S + h * 3600 + m * 60 + s) - offset;
    if (*text != '\0' || total < 0)
        return -1;
    *us = (uint64_t)total * SECOND_US + fraction;
    return 0;
}

uint64_t rfc3339_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_US + (uint64_t)now.tv_nsec / 1000u;
}
