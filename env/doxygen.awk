# Turns the plain comments of a header into Doxygen's: a comment of its own describes what follows, one behind a
# member that member. Members without one are described by the comment of their type.

# One member may take several lines: `described` says whether it has a comment so far.
function member_end(line) {
    if (!described && line ~ /[,;]$|^    [A-Z][A-Z0-9_]*$/) {
        line = line " /**< &nbsp; */"
    }
    if (line ~ /[;,]( *\/\*|$)/) {
        described = 0
    }
    return line
}

NR == 1 {
    print FILENAME ~ /trainyard\.h$/ ? "/** @mainpage" : "/** @file"
    sub(/^\/\*/, " *")
    in_comment = !/\*\//
    print
    next
}
in_comment {
    in_comment = !/\*\//
    print
    next
}
/^ *\/\* ----/ { # a heading between parts of a header
    in_comment = !/\*\//
    print
    next
}
/^ *\/\*/ {
    sub(/\/\*/, "/**")
    in_comment = !/\*\//
    described = 1
    print
    next
}
/^(typedef )?(struct|enum)( [A-Za-z]+)? \{$/ { in_body = 1; described = 0; print; next }
/^}/ { in_body = 0 }
/[^ ].*\/\* / {
    sub(/\/\* /, "/**< ")
    in_comment = !/\*\//
    described = 0
    print
    next
}
in_body && !/^ *$/ { $0 = member_end($0) }
{ print }
